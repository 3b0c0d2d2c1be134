package import RedisProtocol
package import StoreProtocol

extension RegistryRead {
    /// The Redis command that carries out the read.
    package func command(_ keys: RegistryKeys) -> RESPCommand {
        let key = key.suffix
        return switch part {
        case .fields(let fields): command(ReadFields(key: key, fields: fields), keys)
        case .hash: command(ReadHash(key: key), keys)
        case .length: command(ReadLength(key: key), keys)
        case .string: command(ReadString(key: key), keys)
        case .lowestMembers(let limit, let count):
            command(ReadLowestMembers(key: key, below: limit, count: count), keys)
        }
    }

    /// Reads the reply to ``command(_:)``.
    package func reply(_ value: RESPValue) throws(StoreError) -> RegistryReply {
        switch part {
        case .fields: .fields(try ReadFields.result(value))
        case .hash: .hash(try ReadHash.result(value))
        case .length: .length(try ReadLength.result(value))
        case .string: .string(try ReadString.result(value))
        case .lowestMembers: .members(try ReadLowestMembers.result(value))
        }
    }

    private func command(_ request: some Request, _ keys: RegistryKeys) -> RESPCommand {
        request.command(keys.keys(ofPartition: partition), hash: nil)
    }
}
