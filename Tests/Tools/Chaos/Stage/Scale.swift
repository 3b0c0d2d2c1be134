/// How long a scenario goes on breaking things.
package struct Scale: Sendable {
    package var span: Duration
    /// All that takes long of itself is left out.
    package var isShort: Bool

    package init(span: Duration, isShort: Bool) { (self.span, self.isShort) = (span, isShort) }
    package static let short = Scale(span: .seconds(6), isShort: true)
}
