extension AppSetup {
    /// How a worker uses the app's gateway: connections, rates and backoff.
    package struct Use: Equatable, Sendable {
        /// How the governor changes the number of connections: by itself, by a number of connections, by a factor, or never.
        package enum Scale: Equatable, Sendable {
            case automatic
            case incremental(UInt8)
            case exponential(Double)
            case constant
        }

        /// The minimum number of connections; ``AppSetup/connections`` is the maximum.
        package var minConnections: UInt8 = 1
        /// Maximum streams of a connection; 0: the number that the gateway allows.
        package var maxStreams: UInt16 = 0
        /// Maximum pushes per second; 0: no limit.
        package var maxRate = 0.0
        /// Maximum bits per second; 0: no limit.
        package var maxBandwidth = 0.0
        package var scale = Scale.automatic
        package var sustainMilliseconds: UInt32 = 2000
        package var pollMilliseconds: UInt32 = 200
        package var settleMilliseconds: UInt32 = 4000
        package var dialMilliseconds: UInt32 = 10_000
        package var minBackOffMilliseconds: UInt32 = 500
        package var maxBackOffMilliseconds: UInt32 = 10_000
        /// The random part of a backoff, as a fraction from 0 to 1.
        package var backOffJitter = 0.5
        /// The budget of the whole farm in pushes per second; 0: no limit.
        package var budgetRate = 0.0
        /// The budget of the whole farm in bits per second; 0: no limit.
        package var budgetBandwidth = 0.0
        /// The budget of the whole farm in connections; 0: no limit.
        package var budgetConnections: UInt16 = 0
        /// The number of shards of the farm. A worker may use a part of each budget: the number of shards that the worker
        /// serves, divided by the number of shards of the farm.
        package var shards: UInt16 = 1
        /// Seconds that a connection may be idle before the worker sends a PING; 0: never.
        package var keepAliveSeconds: UInt32 = 3600
        /// Maximum seconds to wait after a gateway's Retry-After. A longer Retry-After is shortened to this value.
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
        case .automatic: writer.message(3)
        }
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        let kind: UInt8 = try reader.read()
        switch kind {
        case 0: self = .incremental(try reader.read())
        case 1: self = .exponential(try reader.read())
        case 2: self = .constant
        case 3: self = .automatic
        default: throw .unknownKind(kind)
        }
    }
}
