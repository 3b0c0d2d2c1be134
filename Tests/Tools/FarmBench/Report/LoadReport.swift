/// The results in h2load's output.
package struct LoadReport: Hashable {
    /// The number of requests a second.
    package let rate: Double
    /// The number of responses with a status from 200 to 299.
    package let succeeded: Int

    /// Nil if the output lacks the rate or the number of successful responses.
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
