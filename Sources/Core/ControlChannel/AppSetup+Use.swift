extension AppSetup {
    /// How much a worker makes of the app's gateway.
    package struct Use: Equatable, Sendable {
        /// By how much the number of connections changes at a time.
        package enum Scale: Equatable, Sendable {
            case incremental(UInt8)
            case exponential(Double)
            case constant
        }

        /// Connections that are kept; at most there are ``AppSetup/connections``.
        package var minConnections: UInt8 = 1
        /// Streams of a connection; 0: as many as the gateway allows.
        package var maxStreams: UInt16 = 0
        /// Pushes a second; 0: any number.
        package var maxRate = 0.0
        /// Bits a second; 0: any number.
        package var maxBandwidth = 0.0
        package var scale = Scale.incremental(1)
        package var sustainMilliseconds: UInt32 = 2000
        package var pollMilliseconds: UInt32 = 200
        package var settleMilliseconds: UInt32 = 4000
        package var dialMilliseconds: UInt32 = 10_000
        package var minBackOffMilliseconds: UInt32 = 500
        package var maxBackOffMilliseconds: UInt32 = 10_000
        /// The random part of a pause, 0...1.
        package var backOffJitter = 0.5
        /// What the whole farm may use: pushes a second, bits a second, connections; 0: any amount.
        package var budgetRate = 0.0
        package var budgetBandwidth = 0.0
        package var budgetConnections: UInt16 = 0
        /// Of the farm: a worker has the part of the budget that its shards are of all.
        package var shards: UInt16 = 1
        /// 0: idle connections are not asked whether they live.
        package var keepAliveSeconds: UInt32 = 3600
        /// Where the gateway's Retry-After asks for more, so much counts.
        package var maxRetryAfterSeconds: UInt32 = 600

        package init() {}
    }
}

extension AppSetup.Use: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(minConnections, maxStreams, maxRate, maxBandwidth, backOffJitter)
        writer.write(budgetRate, budgetBandwidth, budgetConnections, shards, scale)
        writer.write(sustainMilliseconds, pollMilliseconds, settleMilliseconds, dialMilliseconds)
        writer.write(minBackOffMilliseconds, maxBackOffMilliseconds, keepAliveSeconds, maxRetryAfterSeconds)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (minConnections, maxStreams, maxRate, maxBandwidth, backOffJitter) = try reader.readAll()
        (budgetRate, budgetBandwidth, budgetConnections, shards, scale) = try reader.readAll()
        (sustainMilliseconds, pollMilliseconds, settleMilliseconds, dialMilliseconds) = try reader.readAll()
        (minBackOffMilliseconds, maxBackOffMilliseconds) = try reader.readAll()
        (keepAliveSeconds, maxRetryAfterSeconds) = try reader.readAll()
    }
}

extension AppSetup.Use.Scale: ControlValue {
    package func write(to writer: inout ControlWriter) {
        switch self {
        case .incremental(let step): writer.message(0, step)
        case .exponential(let factor): writer.message(1, factor)
        case .constant: writer.message(2)
        }
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let kind: UInt8 = try reader.read()
        switch kind {
        case 0: self = .incremental(try reader.read())
        case 1: self = .exponential(try reader.read())
        case 2: self = .constant
        default: throw .unknownKind(kind)
        }
    }
}
