/// The stored state of one device. All other properties of a device are functions of its token and the time
/// (``DeviceConditions``).
struct DeviceState {
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
    /// The time from which the present run downloads, after the publisher has responded.
    var downloadsFrom = ModelTime.start
    var runEnd = ModelTime.start
    /// The number of random numbers that pushes have used.
    var draws: UInt32 = 0
    /// The size of the stored part of ``partial``, in kilobytes.
    var kilobytes: UInt32 = 0
    /// The running time that has been used on ``budgetDay``, in tenths of a second.
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

/// A push in a device's only slot. The gateway stores the push while the device is offline; otherwise the device stores it.
struct HeldPush {
    enum Kind: UInt8 {
        case alert, alertWithExtension, background
    }

    /// The decision whether the system starts the app for the push.
    enum Choice: UInt8 {
        case open, wakes, ignored
    }

    /// ``DevicePush/notStored``: the push is discarded when the device cannot take the push at once.
    let expiration: ModelTime
    /// A hash of the collapse id; 0: none.
    let collapseID: UInt32
    let editions: EditionList
    let kind: Kind
    /// Whether the push has priority 1, which starts no app.
    let neverWakes: Bool
    var choice = Choice.open

    init(_ push: DevicePush, kind: Kind) {
        expiration = push.expiration
        collapseID = push.collapseID
        editions = push.editions
        self.kind = kind
        neverWakes = push.neverWakes
    }
}
