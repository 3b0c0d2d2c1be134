/// Ids for jobs whose producers gave none.
package enum JobID {
    private static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// 128 random bits as 26 characters.
    package static func random(using generator: inout some RandomNumberGenerator) -> String {
        var rest = UInt128(generator.next()) << 64 | UInt128(generator.next())
        let characters = (0..<26).map { _ in
            defer { rest >>= 5 }
            return digits[Int(truncatingIfNeeded: rest & 31)]
        }
        return String(decoding: characters, as: UTF8.self)
    }

    package static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        return random(using: &generator)
    }
}
