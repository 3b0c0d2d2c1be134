/// How long a scenario injects faults.
package struct Scale: Sendable {
    package var span: Duration
    /// Whether slow scenarios are skipped.
    package var isShort: Bool

    package init(span: Duration, isShort: Bool) { (self.span, self.isShort) = (span, isShort) }
    package static let short = Scale(span: .seconds(6), isShort: true)
}
