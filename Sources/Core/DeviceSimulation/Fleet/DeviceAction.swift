/// An event on a device.
package struct DeviceAction: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// An alert is shown. With `replaces`, the alert replaces the last alert, which has the same collapse id.
        case showAlert(replaces: Bool)
        case start(Start)
        /// The app asks the publisher which editions it may fetch: one request to the publisher's API.
        case askPublisher
        /// An interrupted download starts over.
        case startOver(Edition)
        /// A run ends before the download is complete.
        case interrupt(Edition)
        /// The app has the whole edition and reports this to the publisher. `sends` is the number of pushes of the edition
        /// that were sent to the device until then.
        case done(Edition, sends: UInt8)
        case discard(Discard)
    }

    /// Why the app or its extension starts.
    package enum Start: Hashable, Sendable {
        /// The system starts the app in the background for a push: a wake-up.
        case wakeUp
        /// The app is already in the foreground, and gets the push.
        case foreground
        /// The notification extension starts for an alert.
        case notificationExtension
    }

    /// Why a push is discarded.
    package enum Discard: Hashable, Sendable, CaseIterable {
        /// A newer push takes the slot.
        case superseded
        /// A newer push with the same collapse id takes the slot.
        case collapsed
        case expired
        /// The user has force-quit the app.
        case forceQuit
        /// The push has expiration 0, and the device cannot take it at once.
        case notStored
        /// A background push without `content-available`.
        case empty
    }

    package let time: ModelTime
    package let device: UInt32
    package let kind: Kind
}
