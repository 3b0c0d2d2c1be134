/// The stored state of one device. All other properties of a device are functions of its token and the time
/// (``DeviceConditions``).
struct SimulatedDeviceState {
    enum Activity: UInt8 {
        /// The app does not run, or is suspended.
        case idle
        /// The system has decided to start the app at the device's next event.
        case waking
        /// The app runs in the background for a push.
        case background
        /// The app runs in the foreground and fetches editions.
        case foreground
        /// The notification extension runs for an alert with `mutable-content`.
        case notificationExtension
    }

    /// The newest undelivered push.
    var held: HeldPush?
    /// The collapse id of the alert that was shown last, as a hash; 0: none.
    var shownCollapseID: UInt32 = 0
    /// The time until which downloaded bytes are counted in ``kilobytes``; at first, the time of the publisher's response.
    var downloadsFrom = ModelTime.start
    var runEnd = ModelTime.start
    /// The number of random numbers that the device has used for pushes and for interrupted downloads.
    var draws: UInt32 = 0
    /// The size of the stored part of ``partial``, in kilobytes.
    var kilobytes: UInt32 = 0
    /// The part of the daily budget that the app has used on ``budgetDay``, in tenths of a second.
    var budgetUsed: UInt16 = 0
    var budgetDay: UInt16 = 0
    /// The number of wake-ups in ``allowanceHour``.
    var allowanceUsed: UInt16 = 0
    var allowanceHour: UInt16 = 0
    /// The editions that the present run fetches.
    var runEditions = EditionList.none
    var activity = Activity.idle
    let profile: UInt8
    /// The edition that the present run downloads.
    var fetching: Edition?
    /// The edition whose download was begun and not completed.
    var partial: Edition?

    init(profile: UInt8) { self.profile = profile }
}

/// The push in a device's slot. A device has one slot. While the device is offline, the gateway stores the push; otherwise
/// the device stores it.
struct HeldPush {
    enum Kind: UInt8 {
        case alert, alertWithExtension, background
    }

    /// Whether the system starts the app for the push; `open`: the system has not decided yet.
    enum Choice: UInt8 {
        case open, wakes, ignored
    }

    /// With the value ``SimulatedPush/notStored``, the push is discarded if the device cannot take it at once.
    let expiration: ModelTime
    /// A hash of the collapse id; 0: none.
    let collapseID: UInt32
    let editions: EditionList
    let kind: Kind
    /// Whether the push has priority 1, which starts no app.
    let neverWakes: Bool
    var choice = Choice.open

    init(_ push: SimulatedPush, kind: Kind) {
        expiration = push.expiration
        collapseID = push.collapseID
        editions = push.editions
        self.kind = kind
        neverWakes = push.neverWakes
    }
}
