import PushModel

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Looks whether payloads are JSON objects. APNs's answer to others is not known: they are accepted, with a
/// warning.
struct PayloadInspector {
    private var latest: [UInt8] = []
    private var latestWarning: String?

    /// What is wrong with a payload; nil if nothing is.
    mutating func warning(about payload: UnsafeRawBufferPointer) -> String? {
        let isSame =
            payload.count == latest.count && !latest.isEmpty
            && latest.withUnsafeBytes { memcmp($0.baseAddress!, payload.baseAddress!, payload.count) == 0 }
        if isSame { return latestWarning }
        latest.removeAll(keepingCapacity: true)
        latest.append(contentsOf: payload)
        latestWarning = Self.check(payload)
        return latestWarning
    }

    private static func check(_ payload: UnsafeRawBufferPointer) -> String? {
        do throws(JSONError) {
            var scanner = JSONScanner(payload)
            try scanner.start()
            guard try scanner.kind() == .object else { return "the payload is not a JSON object" }
            try JSONScanner.validate(payload)
            return nil
        } catch {
            return "the payload is not JSON: \(error)"
        }
    }
}
