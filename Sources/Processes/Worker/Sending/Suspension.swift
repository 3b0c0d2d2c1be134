import Delivery

/// Why an app's sender sends nothing.
enum Suspension {
    /// The gateway rejects the credentials; the coordinator knows, and has not decided yet.
    case doubt
    /// The app is paused: batches go back.
    case paused
    /// Redis says that the app is paused, which the coordinator may not know: batches go back until Redis says otherwise.
    case pausedInRedis
    /// The app is not served any more: batches go back.
    case left
    /// The worker is finishing: nothing new starts.
    case finishing

    var isPause: Bool { self == .paused || self == .pausedInRedis }
    var mode: Window.Mode { self == .doubt ? .holding : .returning }
}
