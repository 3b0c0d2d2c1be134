package import APNs
import FarmPolicy
package import HTTP2
package import PushModel

/// A push service over HTTP/2: how it wants its requests, and what its responses mean.
///
/// ``PushExchange`` has what all of them share: streams, deadlines, the gateway's limits and troubles. The compiler specialises it for
/// each service, so that a push pays nothing for the choice. That needs a connection class for each service, such as
/// ``APNsConnection``: what is called through a protocol is not specialised.
package protocol StreamService {
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
    func goAwayMeaning(code: UInt32, debugData: [UInt8]) -> (words: String, verdict: Verdict)
}

/// How a connection speaks to a push service over HTTP/2.
package struct StreamSettings {
    /// The gateway's host, with its port unless that is 443.
    package let authority: String
    /// Nil when the TLS certificate speaks for us.
    package let providerToken: [UInt8]?
    /// Of the credentials; every refusal carries it.
    package let generation: UInt32
    package let requestTimeout: Duration
    /// Streams at most, whatever the gateway allows.
    package let streams: Int
    /// After so long an idle gateway is asked whether it lives; nil: never.
    package let keepAlive: Duration?

    package init(
        authority: String, providerToken: [UInt8]?, generation: UInt32, requestTimeout: Duration,
        streams: Int = StreamBudget.usualCap, keepAlive: Duration? = .seconds(3600)
    ) {
        (self.authority, self.providerToken, self.generation) = (authority, providerToken, generation)
        (self.requestTimeout, self.streams, self.keepAlive) = (requestTimeout, streams, keepAlive)
    }
}
