/// Counters of all devices since the model's start, in total and for each minute of the model.
package struct SimulatedDeviceCounts: Sendable {
    /// The greatest number of minutes whose counters are kept: a week. If there are more minutes, the oldest minute is
    /// dropped.
    package static let mostMinutes = 10_080

    /// The counters of one minute.
    package struct Minute: Hashable, Sendable {
        /// Starts of the app in the background for a push.
        package var wakeUps = 0
        package var apiRequests = 0
        /// The greatest number of API requests in one second.
        package var mostAPIRequests = 0
        package var done = 0
    }

    package private(set) var alerts = 0
    package private(set) var backgroundPushes = 0
    package private(set) var shownAlerts = 0
    /// Shown alerts that replace an alert with the same collapse id.
    package private(set) var replacedAlerts = 0
    package private(set) var wakeUps = 0
    /// Background pushes that were delivered while the app was in the foreground.
    package private(set) var foregroundDeliveries = 0
    package private(set) var extensionRuns = 0
    package private(set) var apiRequests = 0
    /// The greatest number of API requests in one second, and the start of that second.
    package private(set) var peak = (requests: 0, at: ModelTime.start)
    package private(set) var interruptedDownloads = 0
    package private(set) var restartedDownloads = 0
    package private(set) var doneReports = 0
    package private(set) var discards: [DeviceAction.Discard: Int] = [:]
    /// Pushes to tokens beyond ``DevicePopulation/mostDevices``.
    package internal(set) var pushesBeyondLimit = 0
    package internal(set) var refusedEditionLists = 0
    /// The counters by minute, without gaps.
    package private(set) var minutes: [Minute] = []
    /// The number of the first minute in ``minutes``, counted from the model's start.
    package private(set) var firstMinute = 0
    private var second = (number: UInt32(0), requests: 0)

    init() {}

    mutating func add(_ kind: SimulatedPush.Kind) {
        switch kind {
        case .alert, .alertWithExtension: alerts += 1
        case .background, .emptyBackground: backgroundPushes += 1
        }
    }

    /// Counts an event. The times of events never decrease.
    mutating func add(_ action: DeviceAction) {
        switch action.kind {
        case .showAlert(let replaces):
            shownAlerts += 1
            if replaces { replacedAlerts += 1 }
        case .start(.wakeUp):
            wakeUps += 1
            change(action.time) { $0.wakeUps += 1 }
        case .start(.foreground): foregroundDeliveries += 1
        case .start(.notificationExtension): extensionRuns += 1
        case .askPublisher: addRequest(at: action.time)
        case .startOver: restartedDownloads += 1
        case .interrupt: interruptedDownloads += 1
        case .done:
            doneReports += 1
            change(action.time) { $0.done += 1 }
        case .discard(let reason): discards[reason, default: 0] += 1
        }
    }

    private mutating func addRequest(at time: ModelTime) {
        apiRequests += 1
        if second.number != time.seconds { second = (time.seconds, 0) }
        second.requests += 1
        let requests = second.requests
        if requests > peak.requests { peak = (requests, ModelTime(tenths: time.seconds * 10)) }
        change(time) {
            $0.apiRequests += 1
            $0.mostAPIRequests = max($0.mostAPIRequests, requests)
        }
    }

    private mutating func change(_ time: ModelTime, _ body: (inout Minute) -> Void) {
        if minutes.isEmpty || time.minute - firstMinute >= 2 * Self.mostMinutes {
            (minutes, firstMinute) = ([], time.minute)
        }
        let missing = time.minute - firstMinute + 1 - minutes.count
        if missing > 0 { minutes.append(contentsOf: repeatElement(Minute(), count: missing)) }
        let surplus = minutes.count - Self.mostMinutes
        if surplus > 0 {
            minutes.removeFirst(surplus)
            firstMinute += surplus
        }
        body(&minutes[time.minute - firstMinute])
    }
}
