package import APNs
import FarmPolicy
package import HTTP2
package import PushModel

/// A push service over HTTP/2: the format of its requests and the meaning of its responses.
///
/// ``PushExchange`` contains the parts that all services share: streams, deadlines, and the gateway's limits and
/// troubles. The compiler specialises ``PushExchange`` for each service, so a push needs no dynamic calls. Each service
/// needs its own connection class, such as ``APNsConnection``, because calls through a protocol are not specialised.
package protocol StreamService {
    init(authority: String, providerToken: [UInt8]?)
    /// Returns the header list of a push's request. The list is valid until the next call.
    mutating func request(
        _ head: PushHead, token: UnsafeRawBufferPointer, id: PushID, bodyCount: Int
    ) -> HeaderBlock
    /// Uses another provider token from the next request on.
    mutating func renew(_ providerToken: [UInt8])
    /// Returns the meaning of a response whose status is not 200.
    ///
    /// - Parameter generation: the generation of the credentials that the push was sent with.
    func rejection(_ response: Response, generation: UInt32) -> Rejection
    /// Returns the text of the gateway's GOAWAY, and what the GOAWAY means for the credentials.
    func goAwayMeaning(code: UInt32, debugData: [UInt8]) -> (words: String, verdict: Verdict)
}

/// The settings of an HTTP/2 connection to a push service.
package struct StreamSettings {
    /// The gateway's host name, followed by the port if the port is not 443.
    package let authority: String
    /// The provider token; nil if a TLS certificate authenticates the app.
    package let providerToken: [UInt8]?
    /// The generation of the credentials. Every refusal contains this number.
    package let generation: UInt32
    package let requestTimeout: Duration
    /// The maximum number of streams, even if the gateway allows more.
    package let streams: Int
    /// The idle time after which a PING checks the gateway; nil means never.
    package let keepAlive: Duration?

    package init(
        authority: String, providerToken: [UInt8]?, generation: UInt32, requestTimeout: Duration,
        streams: Int = StreamBudget.usualCap, keepAlive: Duration? = .seconds(3600)
    ) {
        (self.authority, self.providerToken, self.generation) = (authority, providerToken, generation)
        (self.requestTimeout, self.streams, self.keepAlive) = (requestTimeout, streams, keepAlive)
    }
}
