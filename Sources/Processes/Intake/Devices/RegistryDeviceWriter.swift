import EventLoop
import RedisClient
import Registry
import StoreProtocol

/// Writes device inputs to an app's registry in Redis.
@Loop final class RegistryDeviceWriter: DeviceWriter {
    private let registry: RegistryWriter
    private let allowsReuse: @Loop () -> Bool

    /// - Parameter allowsReuse: whether new devices may get the ordinals of removed devices now.
    init(_ registry: RegistryWriter, allowsReuse: @escaping @Loop () -> Bool) {
        (self.registry, self.allowsReuse) = (registry, allowsReuse)
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
            inputs, reusableBefore: allowsReuse() ? .max : 0, isOwner: isOwner)
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
