import APNs
import BinaryProtocol
import PushModel

/// The reasons of failures that have a label of their own: what a gateway may say has no end, and each label costs a time series.
enum MetricReasons {
    static let other = "other"

    private static let known = Set(
        Reason.allCases.map(\.rawValue) + FarmReason.allCases.map(\.rawValue)
            + (0...UInt8.max).map { BinaryStatus(rawValue: $0).reason }.filter { !$0.hasPrefix("Status") }
            + ["ClosedWithoutReply"])

    static func name(_ reason: String) -> String { known.contains(reason) ? reason : other }
}
