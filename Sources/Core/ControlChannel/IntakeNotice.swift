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

extension IntakeNotice.Heartbeat: ControlValue {
    package func write(to writer: inout ControlWriter) { writer.write(jobs, refused, pushes, residentBytes) }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (jobs, refused, pushes, residentBytes) = try reader.readAll()
    }
}

extension IntakeNotice: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .hello: writer.message(1)
        case .heartbeat(let heartbeat): writer.message(2, heartbeat)
        case .works(let app): writer.message(3, app)
        case .idle(let app): writer.message(4, app)
        case .delayed(let app, let milliseconds): writer.message(5, app, milliseconds)
        case .fenced(let app, let token): writer.message(6, app, token)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1: self = .hello
        case 2: self = .heartbeat(try reader.read())
        case 3: self = .works(app: try reader.read())
        case 4: self = .idle(app: try reader.read())
        case 5: self = .delayed(app: try reader.read(), milliseconds: try reader.read())
        case 6: self = .fenced(app: try reader.read(), token: try reader.read())
        default: throw .unknownKind(kind)
        }
    }
}
