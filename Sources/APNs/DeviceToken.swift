/// Limits of device tokens. Apple promises no length; 32 bytes are usual.
package enum DeviceToken {
    /// The most bytes of a token.
    package static let longest = 100
}
