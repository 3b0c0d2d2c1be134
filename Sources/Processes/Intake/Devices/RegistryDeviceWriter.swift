import EventLoop
import RedisClient
import Registry
import StoreProtocol

/// Writes device inputs to an app's registry in Redis.
@Loop final class RegistryDeviceWriter: DeviceWriter {
    private let registry: RegistryWriter
    private let reusableBefore: @Loop () -> Int64

    /// - Parameter reusableBefore: returns a time in Unix seconds. New devices may get the ordinals of devices that were removed
    ///   before this time.
    init(_ registry: RegistryWriter, reusableBefore: @escaping @Loop () -> Int64) {
        (self.registry, self.reusableBefore) = (registry, reusableBefore)
    }

    var onWait: @Loop (_ isWaiting: Bool) async -> Void {
        get { registry.onWait }
        set { registry.onWait = newValue }
    }

    func takeOver() async throws(StoreError) { try await registry.takeOver() }

    func apply(
        _ inputs: [DeviceInput], isOwner: @Loop () async throws(StoreError) -> Void
    ) async throws(StoreError) -> [DeviceInputError?] {
        let results = try await registry.apply(
            inputs, reusableBefore: reusableBefore(), isOwner: isOwner)
        return zip(inputs, results).map { input, result in
            guard case .refused(let refusal) = result else { return nil }
            // The parser accepted the input, so no byte is at fault: the position is the start of the input.
            return DeviceInputError(
                field: refusal.field, position: 0, reason: "\(refusal)", device: input.device)
        }
    }
}

extension DeviceInput {
    /// The id of the device that the input names; nil if it names a user.
    fileprivate var device: String? {
        switch self {
        case .set(let fields): fields.id
        case .change(let id, _, _), .remove(let id, _): id
        case .forget, .invalidate: nil
        }
    }
}
