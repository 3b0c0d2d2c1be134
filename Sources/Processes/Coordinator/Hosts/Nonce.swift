import OpenSSL
import PushModel

/// What tells one owner of a lease from every other there ever was.
enum Nonce {
    /// 16 hexadecimal digits.
    static func make() -> String { Hexadecimal.text(of: SecureRandom.bytes(8)) }
}
