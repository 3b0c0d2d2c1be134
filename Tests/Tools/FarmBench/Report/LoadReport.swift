/// What h2load writes at its end.
package struct LoadReport: Hashable {
    /// Requests a second.
    package let rate: Double
    /// Answers with a status of 200 and more, below 300.
    package let succeeded: Int

    /// Nil if it does not say both.
    package init?(_ text: String) {
        var (rate, succeeded): (Double?, Int?)
        for line in text.split(separator: "\n") {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "," })
            if line.hasPrefix("finished in"), let place = words.firstIndex(of: "req/s"), place > 0 {
                rate = Double(words[place - 1])
            }
            if line.hasPrefix("status codes:"), let place = words.firstIndex(of: "2xx"), place > 0 {
                succeeded = Int(words[place - 1])
            }
        }
        guard let rate, let succeeded else { return nil }
        (self.rate, self.succeeded) = (rate, succeeded)
    }
}
