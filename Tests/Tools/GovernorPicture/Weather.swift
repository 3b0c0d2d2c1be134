/// What happens to the gateway, and when, in seconds.
struct Weather {
    let at: Double
    /// For the simulator.
    let line: String
    /// For the picture.
    let words: String

    /// Settings are the defaults, the gateway answers after 50 ms and allows 100 streams a connection: 2,000 pushes a second each.
    static let start = ["latency 50ms"]
    static let options = ["--streams", "100"]
    static let all = [
        Weather(at: 55, line: "rate 4000", words: "429 above 4,000/s"),
        Weather(at: 85, line: "rate off", words: "any rate"),
        Weather(at: 115, line: "streams 20", words: "20 streams"),
        Weather(at: 130, line: "streams 100", words: "100 streams"),
        Weather(at: 145, line: "answer 503", words: "503"),
        Weather(at: 150, line: "answer off", words: "well again"),
    ]
    static let loadEnds = 175.0
    static let end = 240.0
}
