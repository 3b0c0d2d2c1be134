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

extension FeedbackOrder {
    func write(to writer: inout ControlWriter) {
        writer.text(app)
        writer.text(host)
        writer.number(port)
        writer.text(reading)
        writer.number(UInt32(shards))
        writer.number(UInt32(clamping: limit))
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        app = try reader.text()
        host = try reader.text()
        port = try reader.number()
        reading = try reader.text()
        shards = Int(try reader.number(UInt32.self))
        limit = Int(try reader.number(UInt32.self))
    }
}
