import EventLoop
import Registry
import StoreProtocol

/// Writes device inputs to the registry of one app, for the owner of the app's intake.
@Loop protocol DeviceWriter: AnyObject {
    /// Called with true before the writer waits for Redis, and with false before it tries again.
    var onWait: @Loop (_ isWaiting: Bool) async -> Void { get set }

    /// Makes this process the only writer. Call this once before the first ``apply(_:isOwner:)`` under a lease.
    func takeOver() async throws(StoreError)

    /// Applies inputs in their order. The writer repeats calls to Redis itself.
    ///
    /// - Parameter isOwner: throws unless this process still owns the app's intake.
    /// - Returns: for each input, why it was refused; nil for an applied input.
    func apply(
        _ inputs: [DeviceInput], isOwner: @Loop () async throws(StoreError) -> Void
    ) async throws(StoreError) -> [DeviceInputError?]
}
