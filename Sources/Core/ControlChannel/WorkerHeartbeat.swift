extension WorkerNotice {
    /// A worker's numbers. All counts are 0 when the process starts.
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
        /// Microseconds of CPU time that the worker used.
        package var processorTaken: UInt64 = 0
        /// Microseconds that the worker was ready to run but waited for a CPU.
        package var processorQueued: UInt64 = 0
        /// The sum of the rate limits, in pushes per second, of the apps that are slowed down because of gateway trouble; 0 if no
        /// app is slowed down.
        package var slowedTo: UInt64 = 0
        /// Whether a signal made the worker quiet. A quiet worker checks out no more batches.
        package var isQuiet = false
        /// Apps with connections, or with activity since the last heartbeat.
        package var apps: [App] = []

        package init() {}
    }
}

extension WorkerNotice.Heartbeat {
    /// A worker's numbers for one app.
    package struct App: Equatable, Sendable {
        package var name: String
        package var connections: UInt32 = 0
        package var openStreams: UInt32 = 0
        /// The rate limit, in pushes per second, while the gateway has trouble; 0 if there is no such limit.
        package var slowedTo: UInt32 = 0
        /// Whether pushes are queued, and the gateway accepts connections but responds to no push.
        package var isStalled = false
        /// The response that all recent pushes got from the gateway or a proxy. Empty if the responses differ, or if no pushes
        /// are queued.
        package var trouble = ""
        /// The number of pushes sent in the last second. Two heartbeats never count the same push.
        package var sent: UInt64 = 0
        package var dials: UInt32 = 0
        /// The times from the sending of a push to its response.
        package var gateway = Times()
        /// How long first attempts of lane high waited before they were sent, counted from the split or from the due time.
        package var highWait = Times()
        /// How long first attempts of lane bulk waited before they were sent, counted from the split or from the due time.
        package var bulkWait = Times()

        package init(name: String) { self.name = name }
    }

    /// A histogram of the times that were measured in the last second, without the empty buckets at both ends.
    package struct Times: Equatable, Sendable {
        package var first: UInt8 = 0
        package var counts: [UInt64] = []
        /// The sum of all counted times.
        package var milliseconds: UInt64 = 0

        package init() {}

        /// - Parameter all: the counts of all buckets.
        package init(_ all: [UInt64], milliseconds: UInt64) {
            guard let first = all.firstIndex(where: { $0 > 0 }), let last = all.lastIndex(where: { $0 > 0 })
            else { return }
            self.first = UInt8(first)
            counts = Array(all[first...last])
            self.milliseconds = milliseconds
        }
    }
}

extension WorkerNotice.Heartbeat: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(connections, openStreams, batches, sent, delivered, failed, retried, dials)
        writer.write(residentBytes, processorTaken, processorQueued, slowedTo, isQuiet, apps)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (connections, openStreams, batches, sent, delivered, failed, retried, dials) = try reader.readAll()
        (residentBytes, processorTaken, processorQueued, slowedTo, isQuiet, apps) = try reader.readAll()
    }
}

extension WorkerNotice.Heartbeat.App: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, connections, openStreams, slowedTo, dials, isStalled, trouble, sent)
        writer.write(gateway, highWait, bulkWait)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, connections, openStreams, slowedTo, dials, isStalled, trouble, sent) = try reader.readAll()
        (gateway, highWait, bulkWait) = try reader.readAll()
    }
}

extension WorkerNotice.Heartbeat.Times: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(first, counts, milliseconds) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (first, counts, milliseconds) = try reader.readAll()
    }
}
