/// Recorded keys and files for tests only, made with `openssl` 3.0 and Python's `cryptography`, or copied from
/// RFC 7515.
enum Vectors {
    /// The private key of RFC 7515, appendix A.3.1, as PKCS#8.
    static let rfc7515PrivateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----
        """

    /// The public key of RFC 7515, appendix A.3.1.
    static let rfc7515PublicKey = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END PUBLIC KEY-----
        """

    /// The private key of RFC 7515 in the older SEC 1 form, as OpenSSL writes it.
    static let rfc7515SEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
        AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
        focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END EC PRIVATE KEY-----
        """

    /// The private key of RFC 7515 with the public part of another key.
    static let mismatched = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAATOUba/K4CmOMQBChaRihzz3RcSi7iE
        DY8vbyCk49B36r0Q0NHDbjJuU+O7XcS/4Lvs3VfI9525+KpfDswE+f0k
        -----END PRIVATE KEY-----
        """

    /// An encrypted key with the password `pa55`. The key belongs to ``certificate``.
    static let encryptedPKCS8 = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgd3CqhQWVlKAICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEK/7Afh676R8PhD31C681OcEgZAg
        2gXoUX7wW2p51D2i+PHJN+U4IvcSl4kR4weaWyQHBoFGMm3VSauefIM6J2A37tSp
        2L/27yROXYPA6Wl+8SSrHhjnW9hnlUiU0RiUQQg694NT4+7e2Z75ppNewdogOGvl
        EnjdCaJPQ5006q/JspDra+ntQX1V3qUjANEKwmiF6DEpk3juvAf+K1vt5xlXNZQ=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// An encrypted key with the password `pa55`. The key belongs to ``certificate``.
    static let encryptedSEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,38AAB570282BFAC7DF2829B341E3F0B1

        4wt++omfniQTwv6iu5k88STM2RJx5yui8XC3BM0Iu+xv4s84jXy4/SLOzZGUiFjO
        fBNU5LbojdLlVm62w5zqF+roKh2zR0+5TTIdTUefyXgXzgW0gJyMMrk8tMhwqWqE
        dj0ZKz1FPiqtgnhp/1rXwhVuUyoCV/+HRRkJR5+gIlc=
        -----END EC PRIVATE KEY-----
        """

    /// A key on the curve P-384, which the farm does not accept.
    static let p384 = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBrLB95nc/sQlsfubt/
        5BHmAHkeINyGtH7dkj9fo9MumyKR446obdqliWLKqcyFeeKhZANiAASYNrXezNep
        dpTef7JyM+EkZ21k7eBT5orUtT+ukNLRI9d5+67+k/DqXwaznEOWNFo1ofRbRxiB
        iwcngP1JMVO0QamaIG0ARwrPMyplWWyZ9OLtEURwOgN8V6HAoLkmBPQ=
        -----END PRIVATE KEY-----
        """

    /// The public part of ``p384``.
    static let p384Public = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEmDa13szXqXaU3n+ycjPhJGdtZO3gU+aK
        1LU/rpDS0SPXefuu/pPw6l8Gs5xDljRaNaH0W0cYgYsHJ4D9STFTtEGpmiBtAEcK
        zzMqZVlsmfTi7RFEcDoDfFehwKC5JgT0
        -----END PUBLIC KEY-----
        """

    /// An Ed25519 key, which the farm does not accept.
    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIImgDNcue1I4D6UfmT30YBIg5Tkf/pUy9NfrqFIXD4R7
        -----END PRIVATE KEY-----
        """

    /// An RSA key, which the farm does not accept for signatures.
    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAMjYLFyZfPhvdh4v
        paXNw1HjbA/sMKbewgbvF91i/6MTSCJ1lvDiamjmST/c0qyAXlCurzhyt/vNlnF3
        H7EXgcFJaeUaQOPLx0HxfIOFHfVlSguE5Af8UNFAEB1hBQBNIqR6R+GvwYusdpAk
        QE0LArXJZarRkd/YwvITRyalxrGTAgMBAAECgYBib1COsctGF5rUgJW3BXnNEKFN
        zHyrzFFcBKK1pmeUDUc1XFx2AwIUF4me+yNl2CRhdrv59n+lscUiJzgpG1REAGFA
        Xfy1yy+ghluWDJ6WAJx2UNEuL+qrSai2E1hcwH37wOv9xNtDEeQSVhssTVVQiIbf
        nLlu2RzKZoyOLmkTwQJBAPMRyFKG08FO1k153S8yOhGVoR8EtO7LAQEmKHSfhvVJ
        6cBy2B3l8aSyy6Kc1ZzAojND+11UzVQp9ImzIPWj5u8CQQDTh1pxavgRUDi2NpRq
        zCYyVpFw+ISWF3tIIJoYd7V2fmj+P+k8eUhwZzeDgei60nK8I0c9dandtNNtuRfm
        Zv+dAkEA31SsYR8eOtOr1X2tuyqD7hoz8uMJNwpwftTHgPf+MStbSYZ7iWT31CKv
        NVaychcQMNg6gXNkQPtXgpmCJBAXIwJAHLdWVulfrfIHEO2N7oWydcj8y6phTYL4
        kI0kfkfaEbENjd6dSkFozSGmDqtXLe2d996OMFDF87w1q8Kh9PxsnQJAesSiAC0P
        RCzyIlt/RwIuoW+lRIAVj7cFO7g/ElnGWeWCyHOhL3TiTtco2C8hybqd3S2ggmM3
        u3AfyHRuELr9Ig==
        -----END PRIVATE KEY-----
        """

    /// A self-signed certificate for `UID=com.example, CN=Apple Push Services: com.example`.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIB5zCCAY2gAwIBAgIUPwIdPAdqw3Go4AMKepj2LXzF4MAwCgYIKoZIzj0EAwIw
        SDEbMBkGCgmSJomT8ixkAQEMC2NvbS5leGFtcGxlMSkwJwYDVQQDDCBBcHBsZSBQ
        dXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZTAgFw0yNjExMjEwNDIxNTJaGA8yMTI2
        MTAyODA0MjE1MlowSDEbMBkGCgmSJomT8ixkAQEMC2NvbS5leGFtcGxlMSkwJwYD
        VQQDDCBBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZTBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABHC5+8OjTWZMfJoMZMzNaWPXwKeg4p04onZcLKIh0pRk
        gFStbUchn2p/0YKR1TldjMCyt5CsWhXKGaiRsZSw9HejUzBRMB0GA1UdDgQWBBRb
        gACsA0b6TrsvjkCW64Wght3nSTAfBgNVHSMEGDAWgBRbgACsA0b6TrsvjkCW64Wg
        ht3nSTAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCc2lsP2Eha
        uUNSShd3H4HR/5Px7K3cGUig6V+jAZbC+QIgOeLFkHKkhH46d8wg1FhwXadGRuzR
        GGZKvtqSYwO8Jfc=
        -----END CERTIFICATE-----
        """

    /// The key of ``certificate`` as PKCS#8.
    static let certificateKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSiS7X9rDbCRVyue9
        sple8OhYsX24Mhg1aVT8hfGZRb+hRANCAARwufvDo01mTHyaDGTMzWlj18CnoOKd
        OKJ2XCyiIdKUZIBUrW1HIZ9qf9GCkdU5XYzAsreQrFoVyhmokbGUsPR3
        -----END PRIVATE KEY-----
        """

    /// The key of ``certificate`` in the older SEC 1 form, as OpenSSL writes it.
    static let certificateKeySEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIEoku1/aw2wkVcrnvbKZXvDoWLF9uDIYNWlU/IXxmUW/oAoGCCqGSM49
        AwEHoUQDQgAEcLn7w6NNZkx8mgxkzM1pY9fAp6DinTiidlwsoiHSlGSAVK1tRyGf
        an/RgpHVOV2MwLK3kKxaFcoZqJGxlLD0dw==
        -----END EC PRIVATE KEY-----
        """

    /// A p12 file as Base64, made with `openssl pkcs12 -export -legacy` (RC2-40, 3DES). The password is `pa55`.
    static let legacyPKCS12 = """
        MIID6gIBAzCCA7AGCSqGSIb3DQEHAaCCA6EEggOdMIIDmTCCAo8GCSqGSIb3DQEHBqCCAoAwggJ8AgEAMIICdQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQIn7DMotkKkTMCAggAgIICSLJnbox2F5nH/uQ6xF3LCovOpiSoscFyAAhm84TJFvCV0dZn2lHRdHYR
        5M4TF5m/c0dsu6UHIgi8Or+1dexz3WVjbATSuN3aLLzLcEtekSfMnuQFAjHMis0S3McUR1xqg2/5veboUkPTPkTI05L5lFJO0Prn
        VHhdVIuHw56gHItAeYxihDhCDIuG6c3HiAqPwY++Kc2xEv6yW6qW62IEyzx/ld25SvIpQ4DJZPBcZTRRLy6UMI5p7UTw1neQ28FT
        D/pzsG7lqESMzwCWUFg9vQjTojsSpMFp38+6R2TVTMJpepn7mT4vtQBtLiUEaUlAn0edSmdsdRjEtxLVNJ4OSdgYbmDuGjS6nCIS
        DfJ0yHGscPGNH1oghPv3tGl8BmuFC1LBi0h1KqaIk/Dp9OvUEWmywgfmgPWB1RUcRyFR8A5yLo6jCRZoosclqtY3+cWhQlUOWXoT
        0gJHlziWgddPl3Uq/JpcidhiI2qfBOgdUWkgLUoPlOm+Sa7nj6kJZdaWTRoItP3Zge6LfRKehDMQuKMDtOFQHkPf4xv4o83MmcRu
        vCWy19zg3jKNOyv3PwOZEz0pT7h1fcO9yNXVDS6f3E28mlsFWIPs5DZOI3C6ckfIXIE7lHkcFfUkfzGu96c0AkJaQD66rg3UKVip
        9f2D+m2iqHykY+P73/NWNE5j/3HU262ozApvaDgK4WGKVi+rPH4W9cU5EtCwfN5EG461npGjeNtq5cnjAlZIULhxGON9M5trbLfQ
        A+DfLEXZDWH2GNEbtJwjdBLjMIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHrBgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0B
        DAEDMA4ECBzisumO4ymPAgIIAASBkJWLt8Yypv/10HInnUH7LcGJIpAQTt007Gm6l4Sv1jofDigpb2xiF+yOVe71NNfH9gKDHcT/
        5OzsLNLMdqv2shiFLPX3fDkZSvRVks5/3YQHv2Y0dwyUCnYDjVi0G6QP7T290HhBnvFZDYXOVh9zVkgV/JxjlcIi1CRXd23pzhhx
        Kb91PQxkCgs0issKHC75nDElMCMGCSqGSIb3DQEJFTEWBBRoDlJntFAchls8k4hQnSH5fjwMszAxMCEwCQYFKw4DAhoFAAQUQM8T
        ZPKXbqS01ZOcdDez0PNhQKUECOc0mgGJqEqNAgIIAA==
        """

    /// A p12 file like ``legacyPKCS12``, with an empty password.
    static let legacyPKCS12NoPassword = """
        MIID6gIBAzCCA7AGCSqGSIb3DQEHAaCCA6EEggOdMIIDmTCCAo8GCSqGSIb3DQEHBqCCAoAwggJ8AgEAMIICdQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQIke72HS3Kr60CAggAgIICSPDeNjKd7XcSYUVrmGWfSMsHCO5MuPzi/844ewpx4w1zHuiFaInsWDv9
        mwW1qKDh40aNiy2ggZlHdLo+W6WdYLa5ycdstoJJ53wEv5EsIn4ivO8nUo+aFgYcAqFAo9tcjCtfNTwxdEAHSU5wvivcDE+PqLaE
        vFdWJsLYWKw1Pp3ozPAGFd/6F4XYn0d01kLpDrXeBNI6AD4csuk7SakrL9zC6e4sSJVOl0LHCDLQ+jit94UPp/5SySo8ffVJHvzz
        bK4nVQhd2rjR4DgCKjCG1yPlMnyQSgX3OIP99mJK6T04dYGlquTw6a4GoMafRJnFi5gQuFiloIdJty0swEhC9jPV/4KbZ6z2Mh9r
        3AtHU10O6sobRvOqmOYkgGZmoz4XstuqBMkH3rRvJWpaE9kFRoTpjQim2m0DIkpygMerpGuZxMWLUHoOyV8Q+5YIDkfARYYwySYm
        xQBVOfrUyoFNGuOEHZYlFQUO92cTu/4qWrmWtVzSMMNLXPmLP3xkejFbCYXu41JBy1rWpv+w/OUTS2IaobUM6yeD8w9jrAgG33Xd
        L0R4FWAZ7M90oKTw4TLLxN6hNGomQ7xjvYWrOuUfu4a6+bzJqqvaUR0rXjnXPmO85r1pjDCMXYRhmVUGmtC67IQ0KmHUUAGMgUIa
        y5uvjF0Tbsn5z6cWrGFnONkEFxiIYtwo/rrJHbPYlUCdyAB6NRHLIZk+OX23g1qZ9CsFGynTrjacjQeBWFCd1wlur/8UwY/pZqkb
        nXRCcwV1Y0LkIhH6OtZUjbs6MIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHrBgsqhkiG9w0BDAoBAqCBtDCBsTAcBgoqhkiG9w0B
        DAEDMA4ECFNSocc6doVrAgIIAASBkGn2wP7v7IKyatCC8uFkeuZXCSzebOaXteNAt6mUKqLRPpCmwsduKvGfg3t+tzXemqx8/1XW
        nZBNSa2XFNgGxC+AKEKHwoLb6BQxJ19tWEbWWkK09zkH1+3/TcpG6trcaGGnDg0vD8JRKV443RZNfDOAU7Y5KzKPRXLb7PikeEAh
        /RY2FXo0KRCjhuDhGZiBijElMCMGCSqGSIb3DQEJFTEWBBRoDlJntFAchls8k4hQnSH5fjwMszAxMCEwCQYFKw4DAhoFAAQUi9JW
        SKec652gm8qzhllMyCB65m4ECNM9S8KQ6E7KAgIIAA==
        """
}
