import Delivery

/// Why an app's sender sends nothing.
enum Suspension {
    /// The gateway rejects the credentials or settings, and the coordinator has neither paused the app nor sent
    /// credentials again.
    case undecided
    /// The app is paused, so batches are returned to Redis.
    case paused
    /// Redis says that the app is paused, but the coordinator may not know. Batches are returned until Redis says that
    /// the app is resumed.
    case pausedInRedis
    /// The app is no longer served, so batches are returned to Redis.
    case removed
    /// The worker is finishing and starts nothing new.
    case finishing

    var isPause: Bool { self == .paused || self == .pausedInRedis }
    var mode: DeliveryWindow.Mode { self == .undecided ? .holding : .returning }
}
