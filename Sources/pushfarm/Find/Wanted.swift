import PushModel

/// The push, or the device, that a command looks for.
enum Wanted: Sendable {
    case token([UInt8])
    case push(PushID)

    /// The shards in whose lists it may be.
    func shards(of count: Int) -> [Int] {
        switch self {
        case .token(let token): [ShardHash.shard(of: token, shards: count)]
        case .push: Array(0..<count)
        }
    }

    /// Positions of a batch, from 0.
    func positions(in batch: Batch) -> [Int] {
        switch self {
        case .token(let token):
            return batch.pushes.indices.filter { batch.bytes[batch.pushes[$0].token].elementsEqual(token) }
        case .push(let id):
            var found: [Int] = []
            for (index, segment) in batch.segments.enumerated() {
                let marker = PushID.Job(id: batch.jobID(of: index))
                for position in segment.pushes {
                    let token = batch.bytes[batch.pushes[position].token]
                    if token.withUnsafeBytes({ marker.pushID(token: $0) }) == id { found.append(position) }
                }
            }
            return found
        }
    }

    func isToken(_ token: ArraySlice<UInt8>, of job: String?) -> Bool {
        switch self {
        case .token(let wanted): wanted.elementsEqual(token)
        case .push(let id):
            job.map { job in token.withUnsafeBytes { PushID.Job(id: job).pushID(token: $0) } == id } ?? false
        }
    }

    /// By which the audit knows the push of a job.
    func mark(in job: String) -> UInt64 {
        switch self {
        case .token(let token): token.withUnsafeBytes { PushID.Job(id: job).mark(token: $0) }
        case .push(let id): id.mark
        }
    }
}
