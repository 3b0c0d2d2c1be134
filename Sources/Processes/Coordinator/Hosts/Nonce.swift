import OpenSSL
import PushModel

/// A name that no other owner of a lease has or had.
enum Nonce {
    /// 16 hexadecimal digits.
    static func make() -> String { Hexadecimal.text(of: SecureRandom.bytes(8)) }
}
