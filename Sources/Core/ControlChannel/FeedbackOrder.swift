/// What a worker has to know to read an app's feedback service once.
package struct FeedbackOrder: Equatable, Sendable {
    package var app: String
    package var host: String
    package var port: UInt16
    /// The name of this reading.
    package var reading: String
    /// Of the farm.
    package var shards: Int
    /// Records that a shard's suppression list keeps at most.
    package var limit: Int

    package init(app: String, host: String, port: UInt16, reading: String, shards: Int, limit: Int) {
        (self.app, self.host, self.port) = (app, host, port)
        (self.reading, self.shards, self.limit) = (reading, shards, limit)
    }
}

extension FeedbackOrder: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(app, host, port, reading, UInt32(shards), UInt32(clamping: limit))
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (app, host, port, reading) = try reader.readAll()
        (shards, limit) = (Int(try reader.read(UInt32.self)), Int(try reader.read(UInt32.self)))
    }
}
