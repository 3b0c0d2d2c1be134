/// One round of a case: numbers by name, and what was not as it must be.
package struct Round: Codable, Sendable, Hashable {
    package var values: [String: Double] = [:]
    /// Promises that were broken: a push too few or too many, a process that ended.
    package var broken: [String] = []
    /// Share of the bench's cores that others had, of the worst of its measurements.
    package var company = 0.0

    package init(values: [String: Double] = [:], broken: [String] = [], company: Double = 0) {
        (self.values, self.broken, self.company) = (values, broken, company)
    }

    package subscript(name: String) -> Double? {
        get { values[name] }
        set { values[name] = newValue }
    }
}
