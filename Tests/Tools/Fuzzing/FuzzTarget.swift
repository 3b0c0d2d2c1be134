/// A reader of foreign bytes, and the properties that must hold for all bytes.
package struct FuzzTarget: Sendable {
    package let name: String
    /// Pieces with a meaning to the reader: mutations insert them.
    package let words: [String]
    /// Longer inputs find nothing that shorter ones do not.
    package let longestInput: Int
    /// Pure: equal bytes, equal end. A trap counts as a violation too.
    package let check: @Sendable ([UInt8]) throws(Violation) -> Void

    init(
        _ name: String, words: [String], longestInput: Int = 4096,
        check: @escaping @Sendable ([UInt8]) throws(Violation) -> Void
    ) {
        (self.name, self.words, self.longestInput, self.check) = (name, words, longestInput, check)
    }

    package static let all: [FuzzTarget] = [
        .job, .answer, .batch, .results, .configuration, .resp, .replies, .control, .http2, .frames,
        .gatewayReply, .feedback,
    ]
}

/// The property that did not hold.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static func unless(
        _ condition: Bool, _ description: @autoclosure () -> String
    ) throws(Violation) {
        if !condition { throw Violation(description()) }
    }
}
