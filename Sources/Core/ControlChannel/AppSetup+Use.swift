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

extension AppSetup.Use {
    func write(to writer: inout ControlWriter) {
        writer.number(minConnections)
        writer.number(maxStreams)
        for number in [maxRate, maxBandwidth, backOffJitter, budgetRate, budgetBandwidth] {
            writer.decimal(number)
        }
        writer.number(budgetConnections)
        writer.number(shards)
        switch scale {
        case .incremental(let step):
            writer.number(UInt8(0))
            writer.number(step)
        case .exponential(let factor):
            writer.number(UInt8(1))
            writer.decimal(factor)
        case .constant: writer.number(UInt8(2))
        }
        for number in [
            sustainMilliseconds, pollMilliseconds, settleMilliseconds, dialMilliseconds,
            minBackOffMilliseconds,
            maxBackOffMilliseconds, keepAliveSeconds, maxRetryAfterSeconds,
        ] { writer.number(number) }
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        minConnections = try reader.number()
        maxStreams = try reader.number()
        maxRate = try reader.decimal()
        maxBandwidth = try reader.decimal()
        backOffJitter = try reader.decimal()
        budgetRate = try reader.decimal()
        budgetBandwidth = try reader.decimal()
        budgetConnections = try reader.number()
        shards = try reader.number()
        let kind: UInt8 = try reader.number()
        switch kind {
        case 0: scale = .incremental(try reader.number())
        case 1: scale = .exponential(try reader.decimal())
        case 2: scale = .constant
        default: throw .unknownKind(kind)
        }
        sustainMilliseconds = try reader.number()
        pollMilliseconds = try reader.number()
        settleMilliseconds = try reader.number()
        dialMilliseconds = try reader.number()
        minBackOffMilliseconds = try reader.number()
        maxBackOffMilliseconds = try reader.number()
        keepAliveSeconds = try reader.number()
        maxRetryAfterSeconds = try reader.number()
    }
}

extension ControlWriter {
    mutating func decimal(_ number: Double) { self.number(number.bitPattern) }
}

extension ControlReader {
    /// A number that is no NaN, not infinite, and not below zero.
    mutating func decimal() throws(ControlError) -> Double {
        let number = Double(bitPattern: try number())
        guard number.isFinite, number >= 0 else { throw .notDecimal }
        return number
    }
}
