/// A notice of the intake to its coordinator.
package enum IntakeNotice: Equatable, Sendable {
    /// Connected to Redis and ready for work.
    case hello
    /// Still alive, and its numbers.
    case heartbeat(Heartbeat)
    /// At work on jobs of the app: an end from now on may be one job's doing.
    case works(app: String)
    /// Waits for jobs, or for Redis: an end from now on accuses none of the app's jobs.
    case idle(app: String)
    /// Batches were delayed; the first is due then.
    case delayed(app: String, milliseconds: UInt64)
    /// Redis rejected this fencing token.
    case fenced(app: String, token: [UInt8])

    /// The intake's numbers; counts are since its start.
    package struct Heartbeat: Equatable, Sendable {
        /// Jobs that are done with, refused ones among them.
        package var jobs: UInt64 = 0
        package var refused: UInt64 = 0
        /// Pushes that were put into batches.
        package var pushes: UInt64 = 0
        package var residentBytes: UInt64 = 0

        package init() {}
    }
}

extension IntakeNotice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hello: writer.kind(1)
        case .heartbeat(let heartbeat):
            writer.kind(2)
            for count in [heartbeat.jobs, heartbeat.refused, heartbeat.pushes, heartbeat.residentBytes] {
                writer.number(count)
            }
        case .works(let app):
            writer.kind(3)
            writer.text(app)
        case .idle(let app):
            writer.kind(4)
            writer.text(app)
        case .delayed(let app, let milliseconds):
            writer.kind(5)
            writer.text(app)
            writer.number(milliseconds)
        case .fenced(let app, let token):
            writer.kind(6)
            writer.text(app)
            writer.blob(token)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = .hello
        case 2:
            var heartbeat = Heartbeat()
            heartbeat.jobs = try reader.number()
            heartbeat.refused = try reader.number()
            heartbeat.pushes = try reader.number()
            heartbeat.residentBytes = try reader.number()
            self = .heartbeat(heartbeat)
        case 3: self = .works(app: try reader.text())
        case 4: self = .idle(app: try reader.text())
        case 5: self = .delayed(app: try reader.text(), milliseconds: try reader.number())
        case 6: self = .fenced(app: try reader.text(), token: try reader.blob())
        default: throw .unknownKind(kind)
        }
    }
}
