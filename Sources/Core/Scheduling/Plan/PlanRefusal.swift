package import PushModel

/// Why a campaign cannot be sent as planned, with the arithmetic.
package enum PlanRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The farm has no rules for a zone that the campaign or the configuration names.
    case unknownZone(String)
    /// The window on the date of the campaign has already ended.
    case windowHasPassed(window: String, zone: String, date: CivilDate, devices: Int, ended: UTCTime)
    /// The window has no time at which the campaign may send: the clocks skip the window, or all its minutes are avoided or quiet.
    case noTime(window: String, zone: String, devices: Int)
    /// The pushes need more time than the window has.
    case doesNotFit(Shortage)
    /// A round takes longer than the time between two rounds. Both times are in milliseconds.
    case roundTooLong(pushes: Int, rate: Double, needed: Int64, every: Int64)
    /// Pushes that are spread evenly need a higher rate than the app may send. Rates are in pushes a second.
    case aboveRateLimit(peak: Double, limit: Double)
    /// The plan would have more rows than ``CampaignPlan/mostRows``.
    case tooManyRows(Int)

    /// The time that the pushes need, and the time that is available: in the window or, without a window, in the
    /// longest allowed plan. All times are in milliseconds.
    package struct Shortage: Hashable, Sendable {
        package let pushes: Int
        /// Pushes a second; nil if the schedule gives a duration instead of a rate.
        package let rate: Double?
        /// The time for the pushes.
        package let needed: Int64
        /// The time that the campaign waits between its stages.
        package let waits: Int64
        /// The window's time without avoided minutes.
        package let inWindow: Int64
        /// The part of ``inWindow`` in which the campaign does not send to zones whose windows end earlier.
        package let available: Int64
        /// The window, such as `05:00–07:00 Europe/Berlin`; nil without a window.
        package let window: String?

        /// The sentence with the numbers.
        var description: String {
            let (exactNeed, have) = PlanText.durations(needed + waits, available)
            let need = waits == 0 ? exactNeed : PlanText.duration(needed)
            var parts: [String] = []
            if let rate {
                parts.append("\(PlanText.pushes(pushes)) at \(PlanText.rate(rate)) a second need \(need)")
            } else if needed > 0 {
                parts.append("the spread needs \(need)")
            }
            if waits > 0 {
                let verb = parts.isEmpty ? "need " : ""
                parts.append("the waits between stages \(verb)\(PlanText.duration(waits))")
            }
            let sentence = parts.joined(separator: " and ")
            guard let window else { return "\(sentence); a campaign without a window has at most \(have)" }
            guard available == inWindow else {
                return
                    "\(sentence); the window \(window) has \(have) left of \(PlanText.duration(inWindow)), because windows that end earlier need the rest"
            }
            return "\(sentence); the window \(window) has \(have)"
        }
    }

    package var description: String {
        switch self {
        case .unknownZone(let name): "there is no time zone \(name)"
        case .windowHasPassed(let window, let zone, let date, let devices, _):
            "the window \(window) \(zone) of \(date) is over; \(PlanText.number(devices)) devices would get nothing"
        case .noTime(let window, let zone, let devices):
            "the window \(window) \(zone) has no time to send; \(PlanText.number(devices)) devices would get nothing"
        case .doesNotFit(let shortage): shortage.description
        case .roundTooLong(let pushes, let rate, let needed, let every):
            {
                let (need, have) = PlanText.durations(needed, every)
                return
                    "\(PlanText.pushes(pushes)) at \(PlanText.rate(rate)) a second need \(need); rounds start every \(have)"
            }()
        case .aboveRateLimit(let peak, let limit):
            "the plan needs \(PlanText.rate(peak)) pushes a second; the limit is \(PlanText.rate(limit))"
        case .tooManyRows(let count):
            "zones, rounds, stages and cohorts make \(PlanText.number(count)) rows; a plan has at most \(PlanText.number(CampaignPlan.mostRows))"
        }
    }
}
