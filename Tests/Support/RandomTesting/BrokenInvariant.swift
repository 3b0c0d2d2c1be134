/// An invariant that a simulation or a random walk found violated.
package struct BrokenInvariant: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }

    /// Checks an invariant. In a million checks, `#require` would take longer than the checks themselves.
    package static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws(Self) {
        if !holds { throw Self(description: description()) }
    }
}
