/// What is held against a batch that was in the hands of workers that were lost: how carefully it is to be sent.
package struct Suspicion: Equatable, Sendable {
    /// Positions before it were in the air then, and are sent in groups.
    package let suspect: Int
    /// Open positions that may be in the air at a time while the first one is a suspect.
    package let group: Int
    /// Nothing else of the worker may be in the air with them.
    package let isAlone: Bool

    package init(suspect: Int, group: Int, isAlone: Bool) {
        (self.suspect, self.group, self.isAlone) = (suspect, group, isAlone)
    }

    /// As the scripts write it, who keep more of it than a worker needs; nil for "": nothing is held against the batch.
    init?(_ text: [UInt8]) throws(StoreError) {
        guard !text.isEmpty else { return nil }
        let numbers = text.split(separator: UInt8(ascii: ",")).compactMap {
            Int(foreign: String(decoding: $0, as: UTF8.self))
        }
        guard numbers.count == 8 else { throw .unexpectedReply("caution") }
        self.init(suspect: numbers[0], group: numbers[1], isAlone: numbers[2] == 1)
    }
}
