import PushModel

/// The fields of one address of a device input. Some fields may not have been read yet.
struct DeviceAddressDraft {
    var service: DeviceAddress.Service?
    var environment: DeviceAddress.Environment?
    var kind: DeviceAddress.Kind?
    /// The token's text, and the offset of its value.
    var token: (text: String, position: Int)?
    /// The time of the last registration with the address, in Unix seconds.
    var since: Int64?

    /// The finished address.
    ///
    /// - Parameter text: the token's text.
    /// - Throws: why the text is not a token of the service.
    func address(
        _ text: String, defaultEnvironment: DeviceAddress.Environment
    ) throws(DeviceToken.Fault) -> DeviceAddress {
        let service = service ?? .apns
        let bytes =
            switch service {
            case .apns: try DeviceToken.bytes(of: text)
            }
        return DeviceAddress(
            service: service, environment: environment ?? defaultEnvironment, kind: kind ?? .app, bytes: bytes
        )
    }
}
