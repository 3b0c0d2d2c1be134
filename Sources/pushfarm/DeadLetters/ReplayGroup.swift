import PushModel
import StoreProtocol

/// Dead letters that may become one job: of the same old job, with the same options and payload.
struct ReplayGroup {
    struct Key: Hashable {
        let job: String
        let options: PushOptions
        /// Empty when each push has its own.
        let payload: [UInt8]
        let hasPayloadPerPush: Bool
    }

    struct Push {
        let token: [UInt8]
        /// Of its own; else empty.
        let payload: [UInt8]
    }

    let key: Key
    private(set) var letters: [EntryID] = []
    private(set) var pushes: [Push] = []
    /// Of the job's text, about.
    private(set) var bytes = 512

    init(key: Key) {
        self.key = key
        bytes += key.payload.count
    }

    /// What a letter brings: nil when it cannot be read.
    static func contents(of letter: DeadLetter) -> (key: Key, pushes: [Push])? {
        guard let batch = try? Batch(decoding: letter.body), batch.segments.count == 1 else { return nil }
        let segment = batch.segments[0]
        let own = segment.hasPayloadPerPush
        let key = Key(
            job: letter.job, options: segment.options,
            payload: own ? [] : Array(batch.bytes[segment.payload]),
            hasPayloadPerPush: own)
        let pushes = batch.pushes.map {
            Push(token: Array(batch.bytes[$0.token]), payload: own ? Array(batch.bytes[$0.payload]) : [])
        }
        return (key, pushes)
    }

    static func bytes(of pushes: [Push]) -> Int {
        pushes.reduce(0) { $0 + 2 * $1.token.count + $1.payload.count + 32 }
    }

    mutating func append(_ letter: EntryID, _ pushes: [Push]) {
        letters.append(letter)
        self.pushes += pushes
        bytes += Self.bytes(of: pushes)
    }
}
