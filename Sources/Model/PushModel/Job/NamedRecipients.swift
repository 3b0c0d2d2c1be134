/// The recipients of a job that names users or devices instead of tokens.
///
/// The intake looks up the tokens of these recipients. Then it replaces the names in the job's JSON by the tokens, so that the job
/// becomes an ordinary job.
package struct NamedRecipients: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case users, devices
    }

    /// An element of `pushes`.
    struct Push: Equatable, Sendable {
        /// The range of the whole element in the job's bytes.
        let range: Range<Int>
        /// The range of the member `"device": "…"` in the job's bytes.
        let device: Range<Int>
    }

    package let kind: Kind
    /// The ids of users or devices, in the job's order. An id may be one that no device or user can have.
    package private(set) var names: [String] = []
    /// The elements of `pushes`, one for each name; empty if the job has the field `users` or `devices`.
    private var pushes: [Push] = []
    /// The range of the field in the job's bytes, from the start of its name to the end of its array.
    var field: Range<Int> = 0..<0

    init(_ kind: Kind) { self.kind = kind }

    mutating func append(_ name: String) { names.append(name) }

    mutating func append(_ name: String, _ push: Push) {
        names.append(name)
        pushes.append(push)
    }

    /// The name of the job's field that has the recipients.
    package var fieldName: String {
        if !pushes.isEmpty { return JobField.pushes.name }
        return kind == .users ? JobField.users.name : JobField.devices.name
    }

    /// The JSON of the job with tokens in place of the names.
    ///
    /// - Parameters:
    ///   - raw: the job's bytes.
    ///   - tokens: for each name, in order, the tokens of the recipient; empty for an unknown recipient.
    package func job(_ raw: [UInt8], tokens: [[[UInt8]]]) -> [UInt8] {
        let isPushes = !pushes.isEmpty
        let bytes = tokens.reduce(0) { $0 + $1.reduce(0) { $0 + 2 * $1.count + 3 } }
        var job: [UInt8] = []
        job.reserveCapacity(raw.count + bytes + 64)
        job += raw[..<field.lowerBound]
        job += "\"\(isPushes ? JobField.pushes.name : JobField.tokens.name)\":[".utf8
        var isFirst = true
        for (number, tokens) in tokens.enumerated() {
            for token in tokens {
                if !isFirst { job.append(UInt8(ascii: ",")) }
                isFirst = false
                let push = isPushes ? pushes[number] : nil
                if let push {
                    job += raw[push.range.lowerBound..<push.device.lowerBound]
                    job += "\"token\":".utf8
                }
                job.append(UInt8(ascii: "\""))
                job += token.withUnsafeBytes { Hexadecimal.text(of: $0) }.utf8
                job.append(UInt8(ascii: "\""))
                if let push { job += raw[push.device.upperBound..<push.range.upperBound] }
            }
        }
        job += "],\"\(JobField.stored.name)\":1".utf8
        let unknown = tokens.count(where: \.isEmpty)
        if unknown > 0 { job += ",\"\(JobField.unknownRecipients.name)\":\(unknown)".utf8 }
        job += raw[field.upperBound...]
        return job
    }
}
