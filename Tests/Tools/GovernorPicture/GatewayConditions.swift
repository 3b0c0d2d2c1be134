/// A change of the gateway's behaviour, with its time in seconds.
struct GatewayConditions {
    let at: Double
    /// The command for the simulator's control socket.
    let line: String
    /// The description in the picture.
    let words: String

    /// The initial behaviour. With `start` and `options`, the gateway responds after 50 ms and allows 100 streams a connection,
    /// so each connection can carry 2,000 pushes a second.
    static let start = ["latency 50ms"]
    static let options = ["--streams", "100"]
    static let all = [
        GatewayConditions(at: 55, line: "rate 4000", words: "429 above 4,000/s"),
        GatewayConditions(at: 85, line: "rate off", words: "any rate"),
        GatewayConditions(at: 115, line: "streams 20", words: "20 streams"),
        GatewayConditions(at: 130, line: "streams 100", words: "100 streams"),
        GatewayConditions(at: 145, line: "answer 503", words: "503"),
        GatewayConditions(at: 150, line: "answer off", words: "well again"),
    ]
    static let loadEnds = 175.0
    static let end = 240.0
}
