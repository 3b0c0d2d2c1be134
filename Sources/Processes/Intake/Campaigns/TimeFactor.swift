import CheckedNumbers
import POSIX

/// The factor by which the durations of all campaigns are divided, so that a test or a demonstration plays a night in minutes.
///
/// The variable is not a setting of the configuration: in operation the factor is 1.
enum TimeFactor {
    static let variable = "PUSHFARM_TIME_FACTOR"
    private static let allowed = 1.0...10_000

    /// The factor of this process: the variable's value, or 1 without the variable. A coordinator refuses other values when it
    /// starts.
    static let current: Double = {
        guard let text = getenv(variable).map({ String(cString: $0) }), text.utf8.count <= 20,
            let factor = Double(text), allowed.contains(factor)
        else { return 1 }
        return factor
    }()
}
