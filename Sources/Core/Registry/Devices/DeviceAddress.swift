/// What a push service delivers to: for APNs, a device token.
package struct DeviceAddress: Hashable, Sendable {
    /// The push service that delivers to the address.
    package enum Service: UInt8, NamedDeviceWord, Sendable {
        case apns = 0

        /// The name in inputs, exports and segments.
        package var name: String {
            switch self {
            case .apns: "apns"
            }
        }
    }

    /// The environment of the service. An address is valid in one environment only.
    package enum Environment: UInt8, NamedDeviceWord, Sendable {
        case production = 0
        case sandbox = 1

        /// The name in inputs, exports and segments.
        package var name: String {
            switch self {
            case .production: "production"
            case .sandbox: "sandbox"
            }
        }
    }

    /// What the address is for.
    package enum Kind: UInt8, NamedDeviceWord, Sendable {
        /// Ordinary pushes to the app.
        case app = 0

        /// The name in inputs and exports.
        package var name: String {
            switch self {
            case .app: "app"
            }
        }
    }

    package let service: Service
    package let environment: Environment
    package let kind: Kind
    /// The bytes of the address: 1 to ``DeviceLimits/addressBytes``. For APNs, the raw device token.
    package let bytes: [UInt8]
    /// Service and environment in one byte, then the address. Two devices never have addresses with the same identity;
    /// the kind is not a part of the identity.
    package let identity: [UInt8]

    package init(
        service: Service = .apns, environment: Environment = .production, kind: Kind = .app, bytes: [UInt8]
    ) {
        (self.service, self.environment, self.kind, self.bytes) = (service, environment, kind, bytes)
        identity = [service.rawValue << 1 | environment.rawValue] + bytes
    }
}

/// A type whose cases have a name in device inputs.
package protocol NamedDeviceWord: CaseIterable {
    var name: String { get }
}

extension NamedDeviceWord {
    /// Finds the case with a name; nil for an unknown name.
    package init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
