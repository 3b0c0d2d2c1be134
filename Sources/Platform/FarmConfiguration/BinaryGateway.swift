/// How an app's gateway is spoken to, if it speaks the binary interface.
package struct BinaryGateway: Sendable, Equatable {
    /// With which command notifications are sent: 2, or 1 or 0 for gateways that know no better.
    package var command: UInt8 = 2
    /// What was sent counts as accepted when the gateway was quiet for so long; more, if its replies take longer.
    package var quietTime: Duration = .seconds(1)
    /// Connections that are given up end with a push that is known to be refused: the reply proves the others.
    package var endsWithSentinel = false
    /// Its TLS is asked, by KeyUpdates of TLS 1.3, what its program has read.
    package var asksIfRead = true
    /// Pushes that one worker may have sent without knowing their outcome.
    package var window = 262_144
    /// Connections that a host may dial in a minute.
    package var maxDials = 3_000
    /// Where dead tokens are read; nil: nowhere.
    package var feedback: HostPort?
    package var feedbackInterval: Duration = .seconds(3600)

    package init() {}

    /// Bytes of a payload that the command takes.
    package var longestPayload: Int { command == 2 ? 2048 : 256 }
}
