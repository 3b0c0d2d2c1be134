import RedisProtocol
import Registry
package import StoreProtocol

extension FarmRedis {
    /// Reads, for each partition of an app's registry, how Redis encodes the first hash of device records: as
    /// `listpack`, or as `hashtable`, which takes about twice the memory. Empty if the app has no stored devices.
    package func recordEncodings(of app: String) async throws(RedisError) -> [String] {
        let settings = try await connection.call(
            ReadRegistrySettings().command(Keys(app: app), hash: nil))
        guard let fields = settings.array, let count = fields.last?.text.flatMap({ Int(foreign: $0) }),
            RegistryKeys.validPartitions.contains(count)
        else { return [] }
        let keys = RegistryKeys(app: app, partitions: count)
        var encodings: [String] = []
        for partition in keys.allPartitions {
            let key = RegistryKey.records(block: 0).key(keys.keys(ofPartition: partition))
            var command = RESPCommand("OBJECT", "ENCODING")
            command.append(key)
            if let encoding = try await connection.call(command).text { encodings.append(encoding) }
        }
        return encodings
    }
}
