import Foundation

/// Secret byte strings in all the forms in which they could leak.
struct Secrets {
    private var patterns: [(name: String, bytes: [UInt8])] = []

    /// The text with which all provider tokens begin, and the text with which their second part (after the first dot) begins.
    static var bearer: Secrets {
        var secrets = Secrets()
        for (name, text) in [("header", #"{"alg":"#), ("claims", #"{"iss":"#)] {
            // Base64 encodes groups of three bytes.
            // Only complete groups are used, because their text does not depend on later bytes.
            let group = Array(text.utf8.prefix(6))
            secrets.add("bearer token's \(name)", Data(group).base64EncodedString())
        }
        return secrets
    }

    /// The names of the secrets in these bytes.
    func found(in bytes: UnsafeRawBufferPointer) -> [String] {
        patterns.filter { Self.contains(bytes, $0.bytes) }.map(\.name)
    }

    func found(in bytes: [UInt8]) -> [String] { bytes.withUnsafeBytes { found(in: $0) } }
    func found(in data: Data) -> [String] { data.withUnsafeBytes { found(in: $0) } }
    func found(in text: String) -> [String] { found(in: Array(text.utf8)) }

    func found(inFile path: String) -> [String] {
        FileManager.default.contents(atPath: path).map { found(in: $0) } ?? []
    }

    static func + (one: Secrets, other: Secrets) -> Secrets {
        var sum = one
        sum.patterns += other.patterns
        return sum
    }

    /// Searches for a pattern. The function jumps to the next byte that equals the pattern's first byte, because the tests search
    /// tens of megabytes for dozens of patterns.
    private static func contains(_ bytes: UnsafeRawBufferPointer, _ pattern: [UInt8]) -> Bool {
        guard var place = bytes.baseAddress, let first = pattern.first else { return false }
        let end = place + bytes.count
        while end - place >= pattern.count,
            let found = memchr(place, Int32(first), end - place - pattern.count + 1)
        {
            if memcmp(found, pattern, pattern.count) == 0 { return true }
            place = UnsafeRawPointer(found) + 1
        }
        return false
    }

    private mutating func add(_ name: String, _ text: String) { patterns.append((name, Array(text.utf8))) }

    private mutating func add(_ name: String, forms bytes: [UInt8]) {
        let hex = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        patterns.append((name, bytes))
        add("\(name), hex", hex)
        add("\(name), hex", hex.uppercased())
        // A secret may start at any of the three offsets of a Base64 group.
        // The search covers all three offsets, without the incomplete groups at both ends.
        for start in 0..<3 {
            let whole = bytes.dropFirst(start)
            let text = Data(whole.prefix(whole.count / 3 * 3)).base64EncodedString()
            add("\(name), base64", text)
            add("\(name), base64url", text.replacing("+", with: "-").replacing("/", with: "_"))
        }
    }
}

extension Secrets {
    init(password: String, _ name: String) { add(name, forms: Array(password.utf8)) }

    /// Device tokens as text.
    init(tokens: [String]) {
        for token in tokens {
            add("device token \(token.prefix(8))…", token)
            add("device token \(token.prefix(8))…", token.uppercased())
        }
    }

    /// A private key: each line of its text, and its number as in Apple's file, as in OpenSSL's memory, and as hexadecimal text.
    init(privateKey pem: String, _ name: String) {
        var isInside = false
        var body = ""
        for line in pem.split(separator: "\n") {
            if line.hasPrefix("-----") {
                isInside = line.contains("BEGIN") && line.contains("PRIVATE KEY")
            } else if isInside {
                if line.count > 16 { add("\(name), a line of its file", String(line)) }
                body += line
            }
        }
        guard let der = Data(base64Encoded: body), let number = Self.number(of: Array(der)) else { return }
        add("\(name), its number", forms: number)
        // OpenSSL stores the number in machine words (limbs), the lowest word first.
        patterns.append(("\(name), its number", Array(number.reversed())))
    }

    /// Returns the private number of a P-256 key in PKCS#8. In the DER bytes the number's 32 bytes follow the version 1.
    private static func number(of der: [UInt8]) -> [UInt8]? {
        let mark: [UInt8] = [0x02, 0x01, 0x01, 0x04, 0x20]
        guard let place = der.firstRange(of: mark), der.count >= place.upperBound + 32 else { return nil }
        return Array(der[place.upperBound..<place.upperBound + 32])
    }
}
