import ControlChannel
import FarmConfiguration
import FarmPolicy

extension AppSetup {
    /// Makes the setup of an app for a worker from the app's configuration. The setup has no credentials yet.
    ///
    /// - Parameters:
    ///   - workers: the number of workers of this host, which share the host's connections to a gateway.
    ///   - shards: the farm's number of shards.
    init(_ app: AppConfiguration, workers: Int, shards: Int, generation: UInt32) {
        self.init(
            name: app.name, topic: app.topic, host: app.gateway.host, port: app.gateway.port,
            environment: app.gatewayEnvironment,
            suppressionSeconds: UInt32(clamping: app.suppression.days * 86_400),
            credentials: .providerToken,
            requestTimeoutMilliseconds: UInt32(clamping: app.requestTimeout.milliseconds),
            binary: app.binary.map { Binary($0, dialsPerMinute: app.dialsPerMinute(workers: workers)) },
            proxyHost: app.proxy?.hostPort.host ?? "", proxyPort: app.proxy?.hostPort.port ?? 0,
            connections: UInt8(clamping: app.connections(workers: workers)),
            use: Use(app.use, app.budget, shards: shards), generation: generation)
        use.maxRetryAfterSeconds = UInt32(clamping: (app.maxRetryAfter.milliseconds + 999) / 1000)
        weight = UInt8(clamping: app.weight)
        bulkFloor = UInt8(clamping: app.bulkFloor)
        isAudited = app.audit.isOn
    }
}

extension AppSetup.Use {
    init(_ use: GatewayUse, _ budget: GatewayBudget, shards: Int) {
        self.init()
        (budgetRate, budgetBandwidth) = (budget.maxRate ?? 0, budget.maxBandwidth ?? 0)
        budgetConnections = UInt16(clamping: budget.maxConnections ?? 0)
        self.shards = UInt16(clamping: shards)
        minConnections = UInt8(clamping: use.minConnections)
        maxStreams = UInt16(clamping: use.maxStreams ?? 0)
        (maxRate, maxBandwidth) = (use.maxRate ?? 0, use.maxBandwidth ?? 0)
        scale =
            switch use.scale {
            case .automatic: .automatic
            case .incremental(let step): .incremental(UInt8(clamping: step))
            case .exponential(let factor): .exponential(factor)
            case .constant: .constant
            }
        sustainMilliseconds = UInt32(clamping: use.minSustain.milliseconds)
        pollMilliseconds = UInt32(clamping: use.pollInterval.milliseconds)
        settleMilliseconds = UInt32(clamping: use.settlePeriod.milliseconds)
        dialMilliseconds = UInt32(clamping: use.dialTimeout.milliseconds)
        minBackOffMilliseconds = UInt32(clamping: use.minDialBackOff.milliseconds)
        maxBackOffMilliseconds = UInt32(clamping: use.maxDialBackOff.milliseconds)
        backOffJitter = use.dialBackOffJitter
        keepAliveSeconds = use.keepAlive.map { UInt32(clamping: $0.milliseconds / 1000) } ?? 0
    }
}

extension AppSetup.Binary {
    fileprivate init(_ gateway: BinaryGateway, dialsPerMinute: Int) {
        self.init(
            command: gateway.command, quietMilliseconds: UInt32(clamping: gateway.quietTime.milliseconds),
            endsWithSentinel: gateway.endsWithSentinel, asksIfRead: gateway.asksIfRead,
            window: UInt32(clamping: gateway.window), dialsPerMinute: UInt32(clamping: dialsPerMinute))
    }
}

extension FarmBudget {
    init(_ budget: GatewayBudget) {
        self.init(rate: budget.maxRate, bandwidth: budget.maxBandwidth, connections: budget.maxConnections)
    }
}
