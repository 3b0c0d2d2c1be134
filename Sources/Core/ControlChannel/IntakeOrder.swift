/// An order of a coordinator to the intake.
///
/// No order carries a key, a certificate or a provider token: the intake parses what producers send.
package enum IntakeOrder: Equatable, Sendable {
    /// The first order: the farm's Redis (a URL with its password, and the CA to trust there, in PEM, empty for the
    /// system's), the process's name (unique for every start), and the number of shards.
    case begin(redis: String, redisAuthority: [UInt8], name: String, shards: UInt16)
    /// An app that is new, or that changed.
    case app(IntakeSetup)
    /// An app that is no longer configured.
    case forget(app: String)
    /// The token that proves the coordinator's lease on the app's intake; empty when it has none.
    case fence(app: String, token: [UInt8])
    /// Log from this level on.
    case logLevel(String)
    /// Open the file again that is logged to.
    case reopenLogs
    /// Do the step that is under way, and exit.
    case finish(withinMilliseconds: UInt32)
}

extension IntakeOrder: ControlMessage {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .begin(let redis, let authority, let name, let shards):
            writer.message(1, redis, authority, name, shards)
        case .app(let setup): writer.message(2, setup)
        case .forget(let app): writer.message(3, app)
        case .fence(let app, let token): writer.message(4, app, token)
        case .finish(let milliseconds): writer.message(5, milliseconds)
        case .logLevel(let level): writer.message(6, level)
        case .reopenLogs: writer.message(7)
        }
    }

    package init(kind: UInt8, from reader: inout ControlReader) throws(ControlError) {
        switch kind {
        case 1:
            self = .begin(
                redis: try reader.read(), redisAuthority: try reader.read(), name: try reader.read(),
                shards: try reader.read())
        case 2: self = .app(try reader.read())
        case 3: self = .forget(app: try reader.read())
        case 4: self = .fence(app: try reader.read(), token: try reader.read())
        case 5: self = .finish(withinMilliseconds: try reader.read())
        case 6: self = .logLevel(try reader.read())
        case 7: self = .reopenLogs
        default: throw .unknownKind(kind)
        }
    }
}
