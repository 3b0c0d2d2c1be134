import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy

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

extension FarmBudget {
    init(_ budget: GatewayBudget) {
        self.init(rate: budget.maxRate, bandwidth: budget.maxBandwidth, connections: budget.maxConnections)
    }
}
