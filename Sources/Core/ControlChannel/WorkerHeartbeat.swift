extension Notice {
    /// A worker's numbers; counts are since its start.
    package struct Heartbeat: Equatable, Sendable {
        package var connections: UInt32 = 0
        package var openStreams: UInt32 = 0
        package var batches: UInt32 = 0
        package var sent: UInt64 = 0
        package var delivered: UInt64 = 0
        package var failed: UInt64 = 0
        package var retried: UInt64 = 0
        package var dials: UInt64 = 0
        package var residentBytes: UInt64 = 0
        /// Microseconds of a processor that the worker has had, and those in which it stood in line for one.
        package var processorTaken: UInt64 = 0
        package var processorQueued: UInt64 = 0
        /// Pushes a second of the apps that go slower because their gateway is in trouble; 0: none does.
        package var slowedTo: UInt64 = 0
        /// A signal has made it quiet: it checks nothing more out.
        package var isQuiet = false
        /// Apps with connections, or with activity since the last heartbeat.
        package var apps: [App] = []

        package init() {}
    }
}

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

extension Notice.Heartbeat: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(connections, openStreams, batches, sent, delivered, failed, retried, dials)
        writer.write(residentBytes, processorTaken, processorQueued, slowedTo, isQuiet, apps)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (connections, openStreams, batches, sent, delivered, failed, retried, dials) = try reader.readAll()
        (residentBytes, processorTaken, processorQueued, slowedTo, isQuiet, apps) = try reader.readAll()
    }
}

extension Notice.Heartbeat.App: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, connections, openStreams, slowedTo, dials, isStalled, trouble, sent)
        writer.write(gateway, highWait, bulkWait)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, connections, openStreams, slowedTo, dials, isStalled, trouble, sent) = try reader.readAll()
        (gateway, highWait, bulkWait) = try reader.readAll()
    }
}

extension Notice.Heartbeat.Times: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(first, counts, milliseconds) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (first, counts, milliseconds) = try reader.readAll()
    }
}
