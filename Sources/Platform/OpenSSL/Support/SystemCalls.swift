import POSIX

/// The system calls of this module. Only this file depends on the C library.
enum SystemCalls {
    static var lastError: Int32 { errno }

    /// The present time in Unix seconds.
    static var now: Int64 { Int64(time(nil)) }

    /// Returns an IP address as text; nil unless `octets` has 4 or 16 elements.
    static func text(ofAddress octets: [UInt8]) -> String? {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: 64)
        let family = octets.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, octets, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the 4 or 16 octets of an IP address; nil for any other text, such as a host name.
    static func octets(ofAddress text: String) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &octets) == 1 { return Array(octets.prefix(4)) }
        return inet_pton(AF_INET6, text, &octets) == 1 ? octets : nil
    }

    /// Reads a small file as a whole. Credentials are small, so more than 1 MiB is refused.
    static func contents(ofFile path: String) throws(CredentialError) -> [UInt8] {
        do throws(SystemFailure) { return try SmallFile.read(path) } catch {
            throw .unreadable(path, "\(error)")
        }
    }
}
