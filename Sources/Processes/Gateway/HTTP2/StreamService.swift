package import APNs
package import HTTP2
package import PushModel

/// A push service over HTTP/2: how it wants its requests, and what its responses mean.
///
/// ``PushExchange`` has what all of them share: streams, deadlines, the gateway's limits and troubles. The compiler specialises it for
/// each service, so that a push pays nothing for the choice. That needs a connection class for each service, such as
/// ``APNsConnection``: what is called through a protocol is not specialised.
package protocol StreamService {
    /// - Parameters:
    ///   - authority: the gateway's host, with its port unless that is 443.
    ///   - providerToken: `nil` when the TLS certificate speaks for us.
    init(authority: String, providerToken: [UInt8]?)
    /// The header list of a push's request, valid until the next call.
    mutating func request(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, bodyCount: Int
    ) -> HeaderBlock
    /// Uses another provider token from the next request on.
    mutating func renew(_ providerToken: [UInt8])
    /// Judges a response whose status is not 200.
    ///
    /// - Parameter generation: of the credentials that the push was sent with.
    func rejection(_ answer: Answer, generation: UInt32) -> Rejection
    /// What the gateway's GOAWAY says, and what that means for our credentials.
    func farewell(code: UInt32, debugData: [UInt8]) -> (words: String, verdict: Verdict)
}
