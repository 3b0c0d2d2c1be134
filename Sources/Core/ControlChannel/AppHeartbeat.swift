extension Notice.Heartbeat {
    /// A worker's numbers of one app.
    package struct App: Equatable, Sendable {
        package var name: String
        package var connections: UInt32 = 0
        package var openStreams: UInt32 = 0
        /// Pushes a second because the gateway is in trouble; 0: any number.
        package var slowedTo: UInt32 = 0
        /// The gateway takes connections and responds to no push, and pushes wait.
        package var isStalled = false
        /// What the gateway, or a proxy before it, has answered to every push for a while that pushes wait; empty if it has not.
        package var trouble = ""
        /// Of the last second: each count is sent once.
        package var sent: UInt64 = 0
        package var dials: UInt32 = 0
        /// From a push's departure to its answer, and from the split to the departure by lane.
        package var gateway = Times()
        package var highWait = Times()
        package var bulkWait = Times()

        package init(name: String) { self.name = name }
    }

    /// Counts of the last second in buckets, without the empty ones at both ends.
    package struct Times: Equatable, Sendable {
        package var first: UInt8 = 0
        package var counts: [UInt64] = []
        /// Of all that was counted.
        package var milliseconds: UInt64 = 0

        package init() {}

        /// - Parameter all: of all buckets.
        package init(_ all: [UInt64], milliseconds: UInt64) {
            guard let first = all.firstIndex(where: { $0 > 0 }), let last = all.lastIndex(where: { $0 > 0 })
            else { return }
            self.first = UInt8(first)
            counts = Array(all[first...last])
            self.milliseconds = milliseconds
        }
    }
}

extension Notice.Heartbeat.App {
    func write(to writer: inout ControlWriter) {
        writer.text(name)
        for number in [connections, openStreams, slowedTo, dials] { writer.number(number) }
        writer.number(UInt8(isStalled ? 1 : 0))
        writer.text(trouble)
        writer.number(sent)
        for times in [gateway, highWait, bulkWait] { times.write(to: &writer) }
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        name = try reader.text()
        connections = try reader.number()
        openStreams = try reader.number()
        slowedTo = try reader.number()
        dials = try reader.number()
        isStalled = try reader.flag()
        trouble = try reader.text()
        sent = try reader.number()
        gateway = try Notice.Heartbeat.Times(from: &reader)
        highWait = try Notice.Heartbeat.Times(from: &reader)
        bulkWait = try Notice.Heartbeat.Times(from: &reader)
    }
}

extension Notice.Heartbeat.Times {
    func write(to writer: inout ControlWriter) {
        writer.number(first)
        writer.list(counts) { $0.number($1) }
        writer.number(milliseconds)
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        first = try reader.number()
        counts = try reader.list { (reader) throws(ControlError) in try reader.number() }
        milliseconds = try reader.number()
    }
}
