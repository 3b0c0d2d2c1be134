/// How to speak the binary interface to a gateway.
package struct BinarySettings: Hashable, Sendable {
    package var command: BinaryCommand
    /// The least time of quiet after which what a gateway was sent counts as accepted.
    package var quietTime: Duration
    /// A connection that is given up ends with a push that the gateway is known to refuse: its reply proves the others.
    package var endsWithSentinel: Bool
    /// The gateway's TLS is asked, by KeyUpdates of TLS 1.3, what its program has read.
    package var asksIfRead: Bool
    /// Pushes that one worker may have sent without knowing their outcome.
    package var window: Int
    /// Connections that one worker may dial in a minute.
    package var dialsPerMinute: Int

    package init(
        command: BinaryCommand = .framed, quietTime: Duration = .seconds(1), endsWithSentinel: Bool = false,
        asksIfRead: Bool = true, window: Int = 262_144, dialsPerMinute: Int = 3_000
    ) {
        self.command = command
        self.quietTime = quietTime
        self.endsWithSentinel = endsWithSentinel
        self.asksIfRead = asksIfRead
        self.window = window
        self.dialsPerMinute = dialsPerMinute
    }
}
