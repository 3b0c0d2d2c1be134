package import RedisProtocol

/// Identifies a lease of an app: the lease of the intake, or the lease of one shard. A lease has one owner at a time.
package enum LeaseID: Hashable, Sendable {
    case intake
    case shard(Int)

    /// The name of the lease's field in the owners hash.
    package var name: String {
        switch self {
        case .intake: "intake"
        case .shard(let number): Self.name(ofShard: number)
        }
    }

    /// A shard's name in keys, batch ids and fields: two digits or more.
    package static func name(ofShard number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

/// The fencing token, which proves that its holder owns a lease: "epoch:nonce:host". Scripts compare the whole token for
/// equality.
package struct FenceToken: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func part(_ index: Int) -> String {
        let parts = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        return index < parts.count ? String(decoding: parts[index], as: UTF8.self) : ""
    }

    package var epoch: Int { Int(foreign: part(0)) ?? 0 }
    package var nonce: String { part(1) }
    package var host: String { part(2) }
    /// Whether the lease was released.
    package var isFree: Bool { nonce.isEmpty }
}

extension LeaseID: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(name) }
}

extension FenceToken: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(bytes) }
}
